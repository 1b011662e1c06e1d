export { table } from './components/table.js';
