/** The network between a node and its database, as a test makes it: slow, cut, or cut just before an answer. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

export class Network {
  /** Of each direction. */
  delayMs = 0;
  /** Pieces that went to the database: at least one a round trip. */
  asked = 0;
  #cut = false;
  #answersToBreak = 0;
  readonly #sockets = new Set<Socket>();

  private constructor(private readonly server: Server) {}

  static async to(port: number): Promise<Network> {
    const server = createServer();
    const network = new Network(server);
    server.on('connection', (node) => network.#join(node, port));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return network;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Nothing arrives any more, and nobody is notified. */
  cut(): void {
    this.#cut = true;
  }

  /**
   * New connections go through; those that were cut are dead for good, as they are when a router has dropped them.
   */
  heal(): void {
    this.#cut = false;
    for (const socket of this.#sockets) if (socket.isPaused()) socket.destroy();
  }

  /** So many answers meet a broken connection: what was asked has been done. */
  breakAnswers(answers: number): void {
    this.#answersToBreak = answers;
  }

  async close(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #join(node: Socket, port: number): void {
    const database = connect(port, '127.0.0.1');
    for (const socket of [node, database]) {
      this.#sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.on('close', () => this.#sockets.delete(socket));
    }
    const breakBoth = (): void => {
      node.destroy();
      database.destroy();
    };
    node.on('close', breakBoth);
    database.on('close', breakBoth);
    node.on('data', (chunk) => {
      this.asked += 1;
      this.#pass(chunk, node, database);
    });
    database.on('data', (chunk) => {
      if (this.#answersToBreak > 0) {
        this.#answersToBreak -= 1;
        breakBoth();
      } else this.#pass(chunk, database, node);
    });
  }

  #pass(chunk: Buffer, from: Socket, to: Socket): void {
    if (this.#cut) from.pause();
    else if (this.delayMs === 0) to.write(chunk);
    else setTimeout(() => to.write(chunk), this.delayMs);
  }
}
