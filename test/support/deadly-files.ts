/**
 * Names, in the environment of a process, a JSON file: of files' SHA-256 the signals that the process sends itself at
 * their sight.
 */
export const DEADLY_VARIABLE = 'DEADLY_FILES';

/** Names a file to which each process appends, in a line, the CUDA devices that it sees. */
export const VISIBLE_VARIABLE = 'VISIBLE_DEVICES_FILE';

/** Names a file: while it is there, a process that starts does not become ready. */
export const GATE_VARIABLE = 'ENGINE_GATE_FILE';
