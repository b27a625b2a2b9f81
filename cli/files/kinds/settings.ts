import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { changesOf } from '../plan/compare.ts';
import { changeSeen, tagOf } from '../plan/conflict.ts';
import type { ApplicationContext } from '../plan/context.ts';
import { type Finding, notTouched, UNCHANGED } from '../plan/plan.ts';

type Settings = SchemaTypes['rest/application-settings-update'];

/** Compares the URLs of the settings of the application. */
export async function planSettings({ application, configuration }: ApplicationContext): Promise<Finding[]> {
  const [first] = configuration.settings;
  if (!first) return [];
  const value: Settings = Object.assign({}, ...configuration.settings.map((entry) => entry.value));
  const written: Settings = Object.assign({}, ...configuration.settings.map((entry) => entry.written));
  const read = () => application.call('read the settings', (lapel) => lapel.tagged('readSettings', {}));
  const { answer, ...seen } = await read();
  const tag = tagOf('the settings', seen.tag);
  const names = Object.keys(value) as (keyof Settings)[];
  const changes = changesOf(names, { value, written }, answer);
  const { authenticationKey: _, ...present } = answer;
  const rest = notTouched(
    'settings',
    Object.keys(present).filter((name) => !(name in value)),
  );
  if (changes.length === 0) return [UNCHANGED, ...rest];
  const body = Object.fromEntries(changes.map(({ field }) => [field, value[field as keyof Settings]])) as Settings;
  const change = () => application.call('change the settings', (lapel) => lapel.updateSettings({ body, ifMatch: tag }));
  const isDone = async () => changesOf(names, { value, written }, (await read()).answer).length === 0;
  const step = {
    kind: 'settings',
    name: application.applicationId,
    action: 'change',
    place: first.place,
    changes,
    notes: [],
    seen: tag,
    resource: `/applications/${application.applicationId}`,
    carryOut: () => changeSeen(change, isDone),
  } as const;
  return [{ step }, ...rest];
}
