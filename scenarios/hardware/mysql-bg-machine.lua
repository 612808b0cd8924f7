-- MySQL with the data of BG's 20 million users on the machine of Xu et al., BlueCache, PVLDB 10(4), 2016, sec. 6.4: two Xeon
-- E5-2665, 64 GB and three SSDs. The time of a query follows from it. Its statements and pages are counted in BG's client for
-- memcached and MySQL (github.com/scdblab/BG, db/jdbc/src/MySQL/Memcached1T1RMySQLClient.java), weighed by BG's mix
-- ReadOnlyActions: view profile 0.4, list friends 0.05, view requests 0.05, view top resources 0.4, view comments 0.1. They are
-- the least that BG's queries take: lists count as if their rows lay on one page, and every condition as if it had an index.
return {
  kind = "database",
  name = "MySQL with 600 GB of BG on two Xeon E5-2665 and three SSDs",
  queries = { 151, source = "MySQL 5.6 manual: default of max_connections, which the paper's clients do not reach" },
  read = { "machine", source = "follows from the values below" },
  cores = { 32, source = "bluecache.bg_bench.mysql.cores: logical cores" },
  statements = { 1.8, source = "BG's client: three to view a profile, one for each other action" },
  statement = { "133us", source = "Callaghan, \"MySQL 5.6, InnoDB and fast storage\", 2013 (planet.mysql.com/entry/?id=72679): 240000 selects of a row by primary key a second, of which 210000 read a page, on 32 logical cores" },
  pages = { 2.85, source = "BG's client: leaves of indexes and pages of rows, four to view a profile (two of friendships, one of resources, one of the user), three to list friends, two for each other action" },
  page = { "16KiB", source = "MySQL 5.6 manual: default of innodb_page_size" },
  data = { "600GB", source = "bluecache.bg_bench.data" },
  pool = { "40GB", source = "bluecache.bg_bench.mysql.buffer: InnoDB buffer pool" },
  page_read = { "100us", source = "Callaghan, \"MySQL 5.6: single-threaded, read-only\", 2013 (planet.mysql.com/entry/?id=36610): mean of a read of 16 KB from his flash storage; the latency of the paper's SSDs is not published" },
  page_rate = { "183Kops", source = "bluecache.bg_bench.mysql.bw: 3 GB/s of three SSDs, over pages of 16 KiB" },
  latency = { "770us", source = "bluecache.lat.eliminated.network and lat.eliminated.nic: 300 us of network and 128 us of NIC for each of 1.8 statements, over 1 Gbit/s as between the paper's servers" },
}
