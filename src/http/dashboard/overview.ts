export { EMPTY_PACKS, packTable, type Pack } from './credit-packs.js';
