# Completion of the prof tool for bash: source this, or install it as share/bash-completion/completions/prof.
_prof()
{
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]} options=
    COMPREPLY=()
    case $before in
    --sort | -s)
        [ "$command" != hot ] || { [ "$before" = -s ] || COMPREPLY=($(compgen -W "self total" -- "$word")); return; }
        [ "$command" != flame ] || { COMPREPLY=($(compgen -f -- "$word")); return; }
        [[ $command != @(why|frames|steps|request|stragglers|messages) ]] || return
        [ "$command" != top ] || { COMPREPLY=($(compgen -W "self total calls max" -- "$word")); return; }
        COMPREPLY=($(compgen -W "total self calls mean min max p99 name" -- "$word")); return ;;
    --layout | -l) COMPREPLY=($(compgen -W "own mxnet json cntk cntk-detail domains histogram" -- "$word")); return ;;
    --format | -f)
        [ "$command" != hot ] || { COMPREPLY=($(compgen -W "text json csv" -- "$word")); return; }
        [ "$command" != compare ] || { COMPREPLY=($(compgen -W "table json markdown" -- "$word")); return; }
        [ "$command" != flame ] || { COMPREPLY=($(compgen -W "svg folded pprof" -- "$word")); return; }
        [[ $command != @(why|frames|steps|request|stragglers|messages) ]] || { COMPREPLY=($(compgen -W "text json" -- "$word")); return; }
        COMPREPLY=($(compgen -W "html json csv txt prof pprof speedscope" -- "$word")); return ;;
    --symbols) COMPREPLY=($(compgen -d -- "$word")); return ;;
    --progress) COMPREPLY=($(compgen -W "auto always never" -- "$word")); return ;;
    --fail-on) COMPREPLY=($(compgen -W "call p99 max total" -- "$word")); return ;;
    --by) COMPREPLY=($(compgen -W "thread process rank host file" -- "$word")); return ;;
    --align) COMPREPLY=($(compgen -W "clock step" -- "$word")); return ;;
    --source) COMPREPLY=($(compgen -W "loc args none" -- "$word")); return ;;
    --top | -n | --threshold | -t | --fail-over | --from | --to | --columns | -c | --min-duration | --min-percent | --rows | --period | --events | --scope | --thread | --slowest | --frame | --step | --at | --name | --offset | --waits | --malloc) return ;;
    esac
    if [ "$COMP_CWORD" = 1 ]; then
        COMPREPLY=($(compgen -W "export summary check recover merge compare cut config neuron view flame hot top why frames steps request stragglers messages run help --help --version" -- "$word"))
        return
    fi
    case $command in
    export) options="--output --format --source --no-args --no-spans --tracy --allocations --min-duration --accelerators --sources --events --from --to --progress --help" ;;
    summary) options="--output --layout --sort --ascending --top --by-path --bars --no-bars --by --others --columns --progress --help" ;;
    check) options="--quiet --columns --help" ;;
    recover) options="--output --progress --help" ;;
    merge) options="--output --source --no-args --no-spans --tracy --allocations --min-duration --accelerators --sources --offset --align --progress --help" ;;
    compare) options="--threshold --fail-over --fail-on --by-path --all --format --progress --help" ;;
    cut) options="--output --from --to --format --progress --help" ;;
    config) options="--all --help" ;;
    hot) options="--scope --thread --top --sort --symbols --from --to --format --columns --progress --help" ;;
    flame) options="--output --format --samples --symbols --from --to --merge --inverted --min-percent --progress --help" ;;
    top) options="--once --rows --period --sort --columns --help" ;;
    frames) options="--slowest --name --format --columns --progress --help" ;;
    steps) options="--slowest --name --format --offset --align --columns --progress --help" ;;
    stragglers) options="--name --format --offset --align --columns --progress --help" ;;
    messages) options="--top --format --offset --columns --progress --help" ;;
    run) options="--output --why --malloc --waits --library --progress --help" ;;
    request) options="--name --at --format --columns --progress --help" ;;
    why) options="--scope --slowest --frame --step --at --format --symbols --columns --progress --help" ;;
    view) options="--output --live --no-browser --no-args --sources --events --from --to --progress --help" ;;
    neuron) options="--output --append --pid --help"
        [ "$COMP_CWORD" != 2 ] || { COMPREPLY=($(compgen -W "check import place $options" -- "$word")); return; } ;;
    help) COMPREPLY=($(compgen -W "export summary check recover merge compare cut config neuron view flame hot top why frames steps request stragglers messages run" -- "$word")); return ;;
    esac
    case $word in
    -*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
    *) COMPREPLY=($(compgen -f -- "$word")) ;;
    esac
}
complete -o filenames -F _prof prof
