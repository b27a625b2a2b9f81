import { type PlannedProgramFault, PROGRAM_FAULTS, type Program } from '../customer/program.ts';
import type { Path } from './check-shape.ts';
import { duration } from './quantities.ts';
import type * as file from './scenario-file.ts';
import { suggestName } from './suggest-name.ts';

/** The programs of the customer that a scenario names. */
export function programsOf({ endpoints = [], consumers = [] }: file.ScenarioFile): Program[] {
  return [
    ...endpoints.map(
      ({ name, types = [], ordered = 'none', ratePerSecond = null, signatures = 'v1' }): Program => ({
        kind: 'endpoint',
        name,
        types,
        isOrdered: ordered === 'device',
        ratePerSecond,
        signatures,
      }),
    ),
    ...consumers.map(({ name, types = [], page = 100 }): Program => ({ kind: 'consumer', name, types, page })),
  ];
}

/** The faults of programs in a phase; `wrong` gets those that name no program, or one of another kind. */
export function programFaultsOf(
  { programs = [] }: file.Phase,
  known: readonly Program[],
  path: Path,
  wrong: (path: Path, text: string) => void,
): PlannedProgramFault[] {
  return programs.map(({ fault, program, after = '0s' }, place) => {
    const found = known.find(({ name }) => name === program);
    const { of } = PROGRAM_FAULTS[fault];
    const at = [...path, 'programs', place];
    if (!found) {
      const names = known.filter(({ kind }) => kind === of).map(({ name }) => name);
      const advice = names.length > 0 ? suggestName(program, names) : `the scenario has no ${of}s`;
      wrong([...at, 'program'], `there is no ${of} "${program}"; ${advice}`);
    } else if (found.kind !== of) wrong([...at, 'fault'], `${fault} is a fault of ${of}s, and ${program} is none`);
    return { fault, program, after: duration(after) };
  });
}
