/** Raised with every change of the addon's calls or results. The build writes it into the addon, see CMakeLists.txt. */
export const CONTRACT = 7;
