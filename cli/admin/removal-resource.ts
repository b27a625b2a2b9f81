import { column, date, flexible, type Resource, type Row } from './admin-resource.ts';
import { type Removal, removalText } from './removal-text.ts';

const whoOf = (row: Row): string => {
  const { developerId, applicationId } = row as unknown as Removal;
  return applicationId === null ? `developer ${developerId}` : `application ${applicationId}`;
};

/** The removals of developers and applications. */
export const REMOVALS: Resource = {
  resource: 'removal',
  columns: [
    column('REMOVAL', 'removalId'),
    { head: 'OF', cell: whoOf },
    { ...column('STATE', 'state'), state: true },
    column('STEP', 'step'),
    date('REQUESTED (UTC)', 'requestedAt'),
    date('ENDED (UTC)', 'endedAt'),
    flexible('NAME', 'name'),
  ],
  verbs: [
    {
      verb: 'list',
      summary: 'Lists the removals of developers and applications, the newest first',
      operation: 'listRemovals',
      kind: 'list',
      list: 'removals',
      first: 100,
      query: {
        developer: {
          parameter: 'developerId',
          value: 'ID',
          text: 'only removals of this developer and its applications',
        },
        application: { parameter: 'applicationId', value: 'ID', text: 'only removals of this application' },
        state: {
          parameter: 'state',
          value: 'STATE',
          choices: ['running', 'ended'],
          text: 'only removals in this state',
        },
      },
      examples: ['lapel admin removal list --state running', 'lapel admin removal list --developer acme --json'],
    },
    {
      verb: 'show',
      summary: 'Shows a removal with its progress',
      operation: 'readRemoval',
      show: (removal) => removalText(removal as unknown as Removal),
      arguments: { REMOVAL: 'removalId' },
      examples: ['lapel admin removal show rem_0193480f3a5b00112233445566778899'],
    },
  ],
};
