import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import type { Application } from '../../account/access.ts';
import type { ExportedFile } from './write-yaml.ts';

type Rollout = NonNullable<SchemaTypes['files/configuration']['rollouts']>[number];
type Present = SchemaTypes['common/rollout'];

/** The parameters that the words of a rollout tell; undefined when they tell too little. */
function parametersOf({ operation, subject }: Present): Rollout['parameters'] {
  const text = subject ?? '';
  const at = text.indexOf('@');
  if ((operation === 'installSoftware' || operation === 'updateFirmware') && at > 0)
    return { package: text.slice(0, at), version: text.slice(at + 1) };
  if (operation === 'setLanguage' && text !== '') return { lang: text };
  const [type = '', state] = text.split(' ');
  return operation === 'setConnectivityState' ? { type, enabled: state === 'on' } : undefined;
}

/** The continuous rollouts that have not ended, and have a label of their own. */
export async function exportRollouts(application: Application): Promise<ExportedFile> {
  const details = await application.call('read the rollouts', async (lapel) => {
    const found: Present[] = [];
    for await (const { rolloutId, state } of lapel.each('listRollouts', {}))
      if (state !== 'completed' && state !== 'cancelled') found.push(await lapel.readRollout({ rolloutId }));
    return found;
  });
  const continuous = details.filter(({ rules }) => rules.continuous);
  const isOnly = (label: string | null): boolean => details.filter((one) => one.label === label).length === 1;
  const notes: string[] = [];
  const rollouts = continuous.flatMap((one): Rollout[] => {
    const { label, rolloutId, operation, selector, stages, rules } = one;
    if (label === null || !isOnly(label)) {
      notes.push(`${rolloutId} is left out: it has no label of its own, by which it could be found.`);
      return [];
    }
    const parameters = parametersOf(one);
    if (!parameters) notes.push(`${label}: the service does not show the parameters; a new start needs them.`);
    if (stages.length > 1) notes.push(`${label}: the service does not show the shares of its stages.`);
    const { continuous: _, startAt: __, ...given } = rules;
    return [{ label, operation, ...(parameters && { parameters }), devices: selector, ...given } as Rollout];
  });
  return { name: 'rollouts.yaml', content: { application: application.applicationId, rollouts }, notes };
}
