import { type Look, lookOf, render, type Text } from './look.ts';
import { createScreen, type Screen, type Terminal } from './terminal.ts';

/** What a command says while it runs: a JSON object a line for scripts, words for people. */
export interface Teller {
  look: Look;
  screen: Screen;
  tell(event: object, text: Text): void;
}

export function createTeller(json: boolean, { stdout, stderr, env }: Terminal): Teller {
  const look = lookOf(stdout, env);
  // On a terminal both streams are one: then what changes and what stays must not write over each other.
  const shared = stdout.isTTY === true && stderr.isTTY === true;
  const screen = createScreen(stderr);
  return {
    look,
    screen,
    tell(event, text) {
      if (json) stdout.write(`${JSON.stringify(event)}\n`);
      else if (shared) screen.line(render(text, look).replace(/\n$/, ''));
      else stdout.write(render(text, look));
    },
  };
}
