// The logic of model/ and flush/ and its tests as one translation unit: what ./mutate builds anew
// for every mutant. Most mutants are in headers, so nothing would be saved by separate objects.
//
// Tests of different files use the same names. Headers are read only once, so once all of them have
// been read, `hvtlb` can be a macro that gives each test file a namespace of its own inside hvtlb.
#include <gtest/gtest.h>
#include <random>
#include <set>

#include "flush/decision.h"
#include "flush/recorder.h"
#include "fuzz/byte_source.h"
#include "fuzz/ops_target.h"
#include "model/eras.h"
#include "model/hotplug.h"
#include "scenario/inspector.h"
#include "scenario/machine.h"
#include "scenario/profile_host.h"
#include "scenario/wire_checks.h"
#include "tests/box.h"
#include "tests/sender.h"
#include "tests/trace_policy.h"
#include "tests/truth_twin.h"

// clang-format off: the product, then the tests; those that take long stand last.
#include "flush/named_targets.cpp"
#include "flush/recorder.cpp"
#include "fuzz/ops_input.cpp"
#include "fuzz/ops_target.cpp"
#include "model/checks.cpp"
#include "model/cpumask.cpp"
#include "model/eras.cpp"
#include "model/guest.cpp"
#include "model/rules.cpp"
#include "model/sequential.cpp"
#include "model/truth.cpp"
#include "model/truth_state.cpp"
#include "scenario/inspector.cpp"
#include "scenario/machine.cpp"
#include "scenario/op.cpp"
#include "scenario/profile_host.cpp"
#include "scenario/wire_checks.cpp"

// These live in hvtlb::hv, whose names they use unqualified, and share none.
#include "tests/gva_list_test.cpp"
#include "tests/vpset_test.cpp"
#include "tests/wire_test.cpp"

#define HVTLB_PASTE(a, b) a##b
#define HVTLB_FRESH(a, b) HVTLB_PASTE(a, b)
#define hvtlb hvtlb::HVTLB_FRESH(tests, __COUNTER__)
#include "tests/checks_test.cpp"
#include "tests/choose_new_asid_test.cpp"
#include "tests/cpumask_test.cpp"
#include "tests/eras_test.cpp"
#include "tests/exhaustive_test.cpp"
#include "tests/faulty_rules_test.cpp"
#include "tests/flush_mm_range_test.cpp"
#include "tests/flush_tlb_func_test.cpp"
#include "tests/flush_tlb_info_test.cpp"
#include "tests/global_asid_test.cpp"
#include "tests/guest_test.cpp"
#include "tests/host_flush_log_test.cpp"
#include "tests/hotplug_test.cpp"
#include "tests/hyperv_builder_test.cpp"
#include "tests/hyperv_filtered_test.cpp"
#include "tests/hyperv_live_test.cpp"
#include "tests/hyperv_reps_test.cpp"
#include "tests/known_faults_test.cpp"
#include "tests/lazy_test.cpp"
#include "tests/live_mask_test.cpp"
#include "tests/machine_test.cpp"
#include "tests/mutation/random_ops_test.cpp"
#include "tests/named_targets_test.cpp"
#include "tests/native_test.cpp"
#include "tests/predicate_test.cpp"
#include "tests/race_rules_test.cpp"
#include "tests/recorder_test.cpp"
#include "tests/rules_test.cpp"
#include "tests/switch_mm_test.cpp"
#include "tests/targets_test.cpp"
#include "tests/temporary_mm_test.cpp"
#include "tests/tlbbatch_test.cpp"
#include "tests/truth_test.cpp"
#include "tests/truth_twin_test.cpp"
#include "tests/user_pcid_test.cpp"
#include "tests/vpset_fast_path_test.cpp"
#include "tests/word_bits_test.cpp"
