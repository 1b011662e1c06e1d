/**
 * Raised with every change of what the addon is asked for, or gives. The build writes it into the addon, see
 * CMakeLists.txt.
 */
export const CONTRACT = 3;
