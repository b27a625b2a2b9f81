/** Ctrl-C was pressed while a command ran that has something to say about it. Exit code 130. */
export class Interrupted extends Error {
  /** What goes on without the command, and how to continue. */
  readonly lines: readonly string[];

  constructor(...lines: readonly string[]) {
    super('interrupted');
    this.lines = lines;
  }
}
