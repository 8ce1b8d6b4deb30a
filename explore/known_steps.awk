# The steps of the guest's routines, as they stand in the headers given: rows {file, routine, line}
# of a C++ table, into the file `out`. A step is a call of the memory policy; live_mask.h hands its
# caller's place on.
FNR == 1 { routine = "" }
/^(struct|class) / { routine = $2 }
/^[A-Za-z].*[A-Za-z0-9_]\(/ {
  match($0, /[A-Za-z0-9_]+\(/)
  routine = substr($0, RSTART, RLENGTH - 1)
}
/^ *(\/\/|\{ mem\.)/ { next }  # comments; the concept
/[ .(!]mem\.(load|store|locked|cmpxchg|wait_while|fence|write_cr3|invlpg|invlpgb|tlbsync|on_each_cpu|hypercall)\(/ && !/, site\)/ ||
/(cpumask_[a-z_]+|for_each_cpu)\((k\.)?mem, / {
  printf "    {\"%s\", \"%s\", %d},\n", FILENAME, routine, FNR >out
}
