
# Completes `cargo bisect-opt …`, and `cargo-bisect-opt bisect-opt …`, as cargo calls it.
function __cargo_bisect_opt_rest
    set -l words (commandline -opc)
    set -l at (contains -i -- bisect-opt $words)
    or return
    complete -C (string join ' ' -- cargo-bisect-opt (string escape -- $words[(math $at + 1)..]) (commandline -ct))
end
for command in cargo cargo-bisect-opt
    complete -c $command -f -n '__fish_seen_subcommand_from bisect-opt' -a '(__cargo_bisect_opt_rest)'
end
