import type { Stream, Terminal } from '../show/terminal.ts';

/**
 * A text in which a CI finds no commands of its own: GitHub carries out lines that begin with `::`, and what stands after
 * `##[`, and codes of devices are foreign.
 */
export const calm = (text: string): string => text.replaceAll('##[', '## [').replace(/^(\s*)::/gm, '$1: :');

const calmStream = (stream: Stream): Stream =>
  Object.assign(Object.create(stream), {
    write: (text: string) => stream.write(calm(text)),
  }) as Stream;

/** A terminal whose outputs are calm. */
export const calmTerminal = (terminal: Terminal): Terminal => ({ ...terminal, stderr: calmStream(terminal.stderr) });
