import type { AdminOperations } from '@lapel/client/admin-operations';
import { adminRequest } from '@lapel/client/admin-request';
import { ADMIN_OPTIONS, openAdministration } from '../account/access.ts';
import { readProfiles, writeProfiles } from '../account/credentials.ts';
import type { Command } from '../line/command.ts';
import { recordText } from '../show/table.ts';
import { SHOWN_ONCE } from './admin-resource.ts';

type Renewed = AdminOperations['renewOwnToken']['answer'];

/** Replaces the token that the command itself is carried out with, also where `lapel login` has stored it. */
export const tokenRenew: Command = {
  name: 'admin token renew',
  summary: 'Replaces your own token; the old one becomes invalid at once',
  about:
    'The new token expires when the old one would have. Where lapel login has stored the old one, the new one takes its place.',
  options: ADMIN_OPTIONS,
  examples: ['lapel admin token renew'],
  async run(given, terminal) {
    const administration = await openAdministration(given, terminal);
    const renewed = (await administration.request('renew token', adminRequest('renewOwnToken', {}))) as Renewed;
    const profiles = await readProfiles(terminal);
    let stored: string | undefined;
    for (const [name, { administration: account, ...others }] of profiles) {
      if (!account || administration.headers.authorization !== `Bearer ${account.token}`) continue;
      profiles.set(name, { ...others, administration: { ...account, token: renewed.token } });
      stored = name;
    }
    if (stored !== undefined) await writeProfiles(terminal, profiles);
    return {
      json: { ok: true, ...renewed },
      text: (look) => {
        const note = stored === undefined ? SHOWN_ONCE : `${SHOWN_ONCE} It is stored in the profile.`;
        return `${recordText(renewed)(look)}${look.paint('dim', note)}\n`;
      },
    };
  },
};
