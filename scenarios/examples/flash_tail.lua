-- The tail that garbage collection makes: BlueCache's log is full, so that SETs program pages and erase the oldest
-- blocks, and GETs wait for them on the chips. SETs are the quickest 10 % of the requests, as the card acknowledges
-- them from its DRAM. Without writes: --set workload.get=1 --set workload.set=0 --set
-- workload.arrival.poisson_mops=0.054, as many GETs a second. `kvcast plot -k cdf WITH/result.json WITHOUT/result.json
-- -o tail.svg` draws both: medians are 2 us apart, and the 99th percentile is 11 ms instead of 0.26 ms. It is longer
-- than a program and an erase (1.3 and 3 ms), because GETs that wait for a chip keep their tags, and other GETs wait
-- for these tags. Blocks have 16 pages, so that the oldest are erased often.
return {
  name = "flash_tail",
  system = { kind = "bluecache", dram = "0B", index = "8MiB", flash = "256MiB" },
  node = { flash = { base = "bluecache-flash", pages_per_block = 16 } },
  workload = { keys = 32e3, key = 32, value = 8104, get = 0.9, set = 0.1, arrival = { poisson_mops = 0.06 } },
  run = { duration = "1s", seed = 1 },
}
