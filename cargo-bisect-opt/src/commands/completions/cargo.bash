
# Completes `cargo-bisect-opt …`, also as cargo calls it (`cargo-bisect-opt bisect-opt …`), and `cargo bisect-opt …`. All
# other command lines of cargo go to the completion that cargo had.
_cargo_bisect_opt_completes() {
    local at=0
    if [[ ${COMP_WORDS[0]##*/} == cargo ]]; then
        at=1
        while [[ ${COMP_WORDS[at]} == +* ]]; do
            at=$((at + 1))
        done
        if [[ ${COMP_WORDS[at]} != bisect-opt || $COMP_CWORD -le $at ]]; then
            if [[ -n $_cargo_bisect_opt_of_cargo ]]; then
                "$_cargo_bisect_opt_of_cargo" "$@"
            fi
            return
        fi
    elif [[ ${COMP_WORDS[1]} == bisect-opt && $COMP_CWORD -gt 1 ]]; then
        at=1
    fi
    local COMP_WORDS=(cargo_bisect_opt "${COMP_WORDS[@]:at+1}") COMP_CWORD=$((COMP_CWORD - at))
    _cargo_bisect_opt cargo_bisect_opt "$2" "$3"
}

# Sets the functions. The completion of cargo may be one that is loaded only when it is needed.
_cargo_bisect_opt_install() {
    complete -p cargo &>/dev/null || _comp_load cargo &>/dev/null || _completion_loader cargo &>/dev/null
    local words=($(complete -p cargo 2>/dev/null)) i
    for i in "${!words[@]}"; do
        if [[ ${words[i]} == -F && ${words[i + 1]} != _cargo_bisect_opt_completes ]]; then
            _cargo_bisect_opt_of_cargo=${words[i + 1]}
        fi
    done
    complete -r cargo_bisect_opt
    complete -F _cargo_bisect_opt_completes -o bashdefault -o default cargo-bisect-opt cargo
}
_cargo_bisect_opt_install
