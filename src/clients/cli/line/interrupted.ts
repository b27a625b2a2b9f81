/** The person pressed Ctrl-C while a command ran that had something to say about it. Exit code 130. */
export class Interrupted extends Error {
  /** What goes on without the command, and how to go on with it. */
  readonly lines: readonly string[];

  constructor(...lines: readonly string[]) {
    super('interrupted');
    this.lines = lines;
  }
}
