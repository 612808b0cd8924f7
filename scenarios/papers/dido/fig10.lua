-- Figure 10: every pipeline of a workload; system.pipeline = auto is DIDO's choice. The closed form divides the cores.
-- The pipelines come from kvc_dido_pipeline_visit_all(): the GPU does consecutive tasks of the chain, the last one
-- excepted, or none; Insert and Delete are in the stage of MM or a later one.
local chain = { "RV", "PP", "MM", "search", "KC", "RD", "WR", "SD" }
local memory = 3 -- MM

-- Returns the stages of the pipeline whose GPU does chain[first] to chain[last]; with last before first, all is on the CPU.
local function divided(first, last)
  if last < first then
    return { "cpu " .. table.concat(chain, " ") }, 1
  end
  local stages = {
    "cpu " .. table.concat(chain, " ", 1, first - 1), "gpu " .. table.concat(chain, " ", first, last),
    "cpu " .. table.concat(chain, " ", last + 1),
  }
  return stages, memory < first and 1 or memory <= last and 2 or 3
end

local pipelines = { "auto" }
for first = 2, #chain - 1 do
  for last = first == 2 and 1 or first, #chain - 1 do
    local stages, from = divided(first, last)
    for insert = from, #stages do
      for delete = from, #stages do
        local with = { table.unpack(stages) }
        with[insert] = with[insert] .. " insert"
        with[delete] = with[delete] .. " delete"
        pipelines[#pipelines + 1] = table.concat(with, " > ")
      end
    end
  end
end
return {
  name = "dido-fig10",
  system = { kind = "dido", pipeline = "auto", predict = "paper" },
  workload = { preset = "K8-G95-S", arrival = "saturate" },
  -- The real index and slabs hold a sample of the keys, and the warm-up ends before SETs have gone through the store once.
  run = { functional = "sampled", sample_rate = 16, warmup_limit = "20ms", duration = "10ms" },
  sweep = { ["system.pipeline"] = pipelines },
}
