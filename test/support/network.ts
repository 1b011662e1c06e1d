/** The network between a node and its database, as a test makes it: slow, cut, or cut just before an answer. */
import { connect, createServer, type Socket } from 'node:net';
import { ProxySockets } from '../../bench/processes/proxy-sockets.js';

export class Network {
  /** Of each direction. */
  delayMs = 0;
  /** Pieces that went to the database: at least one a round trip. */
  asked = 0;
  #cut = false;
  #answersToBreak = 0;

  private constructor(
    private readonly sockets: ProxySockets,
    readonly port: number,
  ) {}

  static async to(port: number): Promise<Network> {
    const server = createServer();
    const sockets = new ProxySockets(server);
    const network = new Network(sockets, await sockets.listen());
    server.on('connection', (node) => network.#join(node, port));
    return network;
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
    for (const socket of this.sockets) if (socket.isPaused()) socket.destroy();
  }

  /** So many answers meet a broken connection: what was asked has been done. */
  breakAnswers(answers: number): void {
    this.#answersToBreak = answers;
  }

  close(): Promise<void> {
    return this.sockets.close();
  }

  #join(node: Socket, port: number): void {
    const database = connect(port, '127.0.0.1');
    this.sockets.add(node, database);
    for (const socket of [node, database]) socket.setNoDelay(true);
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
