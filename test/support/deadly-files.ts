/** Names, in the environment of a process, a JSON file: of files' SHA-256 the signals that the process sends itself at their sight. */
export const DEADLY_VARIABLE = 'DEADLY_FILES';
