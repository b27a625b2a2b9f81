import type { Outcome } from '../line/command.ts';
import { Interrupted } from '../line/interrupted.ts';
import { Failure } from '../show/failure.ts';
import { render } from '../show/look.ts';
import type { References } from './read/references.ts';

const hiddenJson = <Value>(value: Value, { hide }: References): Value => {
  if (typeof value === 'string') return hide(value) as Value;
  if (Array.isArray(value)) return value.map((one: unknown) => hiddenJson(one, { hide } as References)) as Value;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, hiddenJson(one as unknown, { hide } as References)]),
  ) as Value;
};

/**
 * Runs a command whose output shows no text of a reference. The answers of a service can repeat what was sent to it, so
 * all texts are looked through, not only the values of the files.
 */
export async function withoutSecrets(references: References, run: () => Promise<Outcome>): Promise<Outcome> {
  try {
    const { json, text, ...rest } = await run();
    return {
      ...rest,
      json: json && hiddenJson(json, references),
      text: (look) => references.hide(render(text, look)),
      ...(rest.problem !== undefined && { problem: references.hide(rest.problem) }),
    };
  } catch (error) {
    if (error instanceof Interrupted) throw new Interrupted(...error.lines.map(references.hide));
    if (!(error instanceof Failure)) throw error;
    const hidden = new Failure(references.hide(error.message), {
      ...(error.refusal && { refusal: hiddenJson(error.refusal, references) }),
      advice: error.advice.map(references.hide),
      passing: error.passing,
    });
    hidden.done = hiddenJson(error.done, references);
    throw hidden;
  }
}
