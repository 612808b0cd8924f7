-- MySQL with the data of BG's 20 million users: two Xeon E5-2665 and three SSDs, as in Xu et al., BlueCache, PVLDB
-- 10(4), 2016, sec. 6.4. The paper publishes no times of queries; the one here follows from where two curves cross. A scenario
-- in which that crossing is to be predicted takes mysql-bg-machine.
return {
  kind = "database",
  name = "MySQL with 600 GB of BG on two Xeon E5-2665",
  queries = { 32, source = "bluecache.bg_bench.mysql.cores: logical cores" },
  read = { "3.5ms", source = "an input from bluecache.exp1.cross, exp1.bluecache and bg_bench.threads.a: 48 threads of memcached that serve 123 Kops with 7.4 % misses send 9100 queries a second and nearly all wait for the database, so that 32 queries at a time take 3.5 ms each" },
}
