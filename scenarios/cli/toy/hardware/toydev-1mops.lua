-- The profile that nodes of the toy have by default.
return {
  kind = "toydev",
  name = "device that serves a million requests per second",
  speed = { "1Mops", source = "made up" },
}
