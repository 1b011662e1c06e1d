/** Cells measured in rounds, so that what slows the machine for a while slows every one of them. */

/** What was measured, once a round. */
export interface Measured<Cell, Pass> {
  cell: Cell;
  passes: Pass[];
}

export interface SweepOptions<Cell, Pass> {
  rounds: number;
  measure: (cell: Cell) => Promise<Pass>;
  /** Before each measurement. */
  onStep?: (done: number, total: number, cell: Cell) => void;
}

/** In the order of the cells. Rejects with the first failure. */
export async function sweep<Cell, Pass>(
  cells: readonly Cell[],
  { rounds, measure, onStep }: SweepOptions<Cell, Pass>,
): Promise<Measured<Cell, Pass>[]> {
  const measured = cells.map((cell) => ({ cell, passes: [] as Pass[] }));
  let done = 0;
  for (let round = 0; round < rounds; round++) {
    for (const { cell, passes } of measured) {
      onStep?.(done++, cells.length * rounds, cell);
      passes.push(await measure(cell));
    }
  }
  return measured;
}
