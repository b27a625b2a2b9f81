import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import type { Application } from '../../account/access.ts';
import type { ExportedFile } from './write-yaml.ts';

type Content = SchemaTypes['files/configuration'];

/** The settings of the application. */
export async function exportSettings(application: Application): Promise<ExportedFile> {
  const { authenticationKey, ...settings } = await application.call('read the settings', (lapel) =>
    lapel.readSettings(),
  );
  return {
    name: 'settings.yaml',
    content: { application: application.applicationId, settings },
    notes: authenticationKey === undefined ? [] : ['The authenticationKey is no part of the files: lapel settings key'],
  };
}

/** The endpoints of the application. One without a description of its own is named by its id. */
export async function exportEndpoints(application: Application): Promise<ExportedFile> {
  const { endpoints } = await application.call('list the endpoints', (lapel) => lapel.listEndpoints());
  const isOnly = (description: string): boolean =>
    description !== '' && endpoints.filter((one) => one.description === description).length === 1;
  const entries = endpoints.map((one): NonNullable<Content['endpoints']>[number] => {
    const { endpointId, description, url, types, ordered, ratePerSecond, enabled, signatures } = one;
    const identity = isOnly(description) ? { description } : { endpointId };
    return { ...identity, url, types, ordered, ratePerSecond, enabled, signatures };
  });
  const hasSecrets = entries.some(({ signatures }) => signatures?.[0] === 'v1');
  return {
    name: 'endpoints.yaml',
    content: { application: application.applicationId, endpoints: entries },
    notes: hasSecrets
      ? ['The secrets are shown by nothing. For a new endpoint, secretTo names the file that gets its secret.']
      : [],
  };
}
