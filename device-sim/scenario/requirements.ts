import { type Expectation, readExpectation } from './expectation.ts';
import { share } from './quantities.ts';
import type { Group, Phase } from './scenario.ts';
import type { ScenarioFile } from './scenario-file.ts';

const percent = (text: number | string): string => `${Number((100 * share(text)).toFixed(4))} %`;

/** The requirements of `takesPlace`, as expectations. `start` is the name of the part before the phases. */
export function requirementsOf(
  { takesPlace = {}, activate = true, rounds = 1 }: ScenarioFile,
  { groups, phases, start }: { groups: readonly Group[]; phases: readonly Phase[]; start: string },
): Expectation[] {
  const { activated, refused, made, faults = false } = takesPlace;
  const named = new Set(
    faults
      ? [...groups.flatMap((group) => group.faults), ...phases.flatMap(({ receiver }) => receiver)].map(
          ({ fault }) => fault,
        )
      : [],
  );
  const wanted: (readonly [text: string, phase: string | null])[] = [
    ...(activated !== undefined && activate ? [[`activated >= ${percent(activated)}`, start] as const] : []),
    ...(refused !== undefined ? [[`refused <= ${percent(refused)}`, null] as const] : []),
    ...(made === undefined
      ? []
      : phases.flatMap(({ name, actions, rollouts }) =>
          actions.length + rollouts.length > 0 ? [[`made >= ${percent(made)}`, name] as const] : [],
        )),
    // A fault of the service, or of a program, is left to no chance, so each one must have been played, in each round.
    ...[
      ...Map.groupBy(
        phases.flatMap(({ service, programs }): { fault: string }[] => [...service, ...programs]),
        ({ fault }) => fault,
      ),
    ].map(([fault, those]) => [`played(${fault}) >= ${rounds * those.length}`, null] as const),
    ...[...named].map((fault) => [`played(${fault}) >= 1`, null] as const),
  ];
  return wanted.map(([text, phase]) => {
    const read = readExpectation(text, phase);
    if (typeof read === 'string') throw new Error(`${text}: ${read}`);
    return read;
  });
}
