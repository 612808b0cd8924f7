/* Scenarios of DIDO that are refused. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "scenarios/load/decode/load_fixture.h"

TestSuite(dido_refusals, .init = kvc_test_make_folder, .fini = kvc_test_remove_folder);

static void expect_refused(const char *system, const char *run, const char *message)
{
    char text[512];
    struct kvc_loaded *loaded;
    struct kvc_diag diag;
    snprintf(text, sizeof(text),
             "return { system = { kind = \"dido\", %s }, workload = { keys = 1e6, key = 16, value = 64,"
             " arrival = \"saturate\" }, %s }",
             system, run);
    enum kvc_status status = kvc_test_load(text, NULL, &loaded, &diag);
    cr_expect_eq(status, KVC_ERR_SCENARIO, "%s", text);
    cr_expect(strstr(diag.message, message) != NULL, "%s: %s", text, diag.message);
    kvc_loaded_free(loaded);
}

Test(dido_refusals, of_wrong_scenarios_have_one_message)
{
    expect_refused("pipeline = \"cpu RV PP MM\"", "run = {}", "found no search, allowed: every task once");
    expect_refused("pipeline = \"cpu:5 RV PP MM search insert delete KC RD WR SD\"", "run = {}",
                   "found 5 cores for 1 stages, node.cpu has 4");
    expect_refused("stealing = false, pipeline = \"megakv\", latency_limit = \"50us\"", "run = {}",
                   "a batch of one query takes");
    expect_refused("index = \"100MB\"", "run = {}", "allowed: a power of two");
    expect_refused("slab = \"4GB\"", "run = {}", "share 1908 MB");
    expect_refused("stealing = true", "node = { gpu = \"h200\" }", "does not state wave_issue");
    expect_refused("stealing = true", "node = { gpu = \"gtx-780\" }", "node.pcie is missing");
    expect_refused("stealing = true", "node = { gpu = \"gtx-780\", pcie = \"pcie3-k40c\" }",
                   "does not state packets");
    expect_refused("stealing = true", "node = { pcie = \"pcie3-x16-gtx780\" }",
                   "node.pcie: found \"PCIe 3.0 x16");
    expect_refused("stealing = true", "node = { gpu = \"gtx-780\", pcie = { lanes = 8 } }",
                   "node.pcie.base is missing");
    expect_refused("stealing = true", "cluster = { nodes = 2 }", "allowed with dido: 1");
}
