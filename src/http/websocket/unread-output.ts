/** What all connections of the server have sent and their clients have not read. */

export const MOST_UNREAD_BYTES_OF_SERVER = 256 * 2 ** 20;

interface Writer {
  /** Ends it at once, without a word: its client does not read. */
  cut(): void;
}

export class UnreadOutput {
  readonly #bytes = new Map<Writer, number>();
  #sum = 0;

  constructor(private readonly most = MOST_UNREAD_BYTES_OF_SERVER) {}

  get bytes(): number {
    return this.#sum;
  }

  /** The writer has so many unread bytes now. Over the bound, whoever has most is cut. */
  update(writer: Writer, bytes: number): void {
    this.#sum += bytes - (this.#bytes.get(writer) ?? 0);
    if (bytes === 0) this.#bytes.delete(writer);
    else this.#bytes.set(writer, bytes);
    while (this.#sum > this.most) this.#cutLargest();
  }

  #cutLargest(): void {
    const [largest] = [...this.#bytes].sort(([, one], [, other]) => other - one);
    if (largest === undefined) return;
    const [writer] = largest;
    this.update(writer, 0);
    writer.cut();
  }
}
