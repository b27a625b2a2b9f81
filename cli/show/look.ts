import { styleText } from 'node:util';
import type { Stream, Terminal } from './terminal.ts';

export type Colour = 'green' | 'red' | 'yellow' | 'cyan' | 'dim' | 'bold';

/** How a text is shown: its width and its colours. */
export interface Look {
  /** The width of the output in columns; null when it is not a terminal, so that nothing is cut. */
  width: number | null;
  paint(colour: Colour | undefined, text: string): string;
}

/** A text that may depend on the width and colours. */
export type Text = string | ((look: Look) => string);

/** Colours are used on terminals, unless the environment has NO_COLOR (https://no-color.org) or TERM=dumb. */
export function lookOf(stream: Stream, env: Terminal['env']): Look {
  const live = stream.isTTY === true;
  const colourful = live && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
  return {
    width: live ? (stream.columns ?? 80) : null,
    paint: (colour, text) =>
      colourful && colour !== undefined ? styleText(colour, text, { validateStream: false }) : text,
  };
}

export const render = (text: Text, look: Look): string => (typeof text === 'string' ? text : text(look));

const COLOURS: Readonly<Record<string, Colour>> = {
  succeeded: 'green',
  delivered: 'green',
  activated: 'green',
  yes: 'green',
  failed: 'red',
  refused: 'red',
  exhausted: 'red',
  gone: 'red',
  failing: 'red',
  processing: 'cyan',
  activating: 'cyan',
  cancelled: 'yellow',
  blocked: 'yellow',
  no: 'dim',
  deactivated: 'dim',
  skipped: 'dim',
};
/** The colour of a state. */
export const colourOf = (state: string): Colour | undefined => COLOURS[state];
