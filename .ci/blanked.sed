# Blanks what differs from machine to machine in recorded output (sed -E): .ci/record and the test `book` compare the rest.
# IDs of call stacks differ from build to build, and with them the order of trials. So only the first two trials are
# compared. IDs, times and counts of trials are blanked, and so is the advice that depends on times.
/^ +([3-9]|[0-9]{2,})  .* (pass|FAIL|unresolved)( |$)|^ +again with|^note: .* -j|^ \.\.\.$/d
s/ *\b([0-9]+m[0-9]+s|[0-9]+(\.[0-9]+)? ?(ms|s|min))\b/ TIME/g
s/\b((0?x)?[0-9a-f]{16}|[0-9a-f]{7}|[0-9a-f]{12}|[0-9a-f]{40})\b/ID/g
s/[0-9]+ (trials|runs|builds)/N \1/g
s/in [0-9]+ of N/in N of N/g
s/compiled [0-9]+ crates?\b/compiled N crates/
s/^(thread '[^']*') \([0-9]+\)/\1 (N)/
s/[0-9]+ at once/N at once/
s/("(start_)?ms":)[0-9]+/\1N/g
