import { p, use } from '../base/elements.ts';
import { useLoad } from '../base/load.ts';
import { addressOf } from '../base/place.ts';
import { operation, read, send } from '../base/requests.ts';
import type { Contents, Removal } from '../base/rows.ts';
import { ask } from '../parts/dialog.ts';
import { loaded } from '../parts/loaded.ts';
import { contentsFacts } from '../parts/removal.ts';

interface Leaver {
  kind: 'developer' | 'application';
  id: string;
}

const requestsOf = ({ kind, id }: Leaver) =>
  kind === 'developer'
    ? {
        contents: operation('readDeveloperContents', { developerId: id }),
        remove: operation('removeDeveloper', { developerId: id }),
      }
    : {
        contents: operation('readApplicationContents', { applicationId: id }),
        remove: operation('removeApplication', { applicationId: id }),
      };

function Counted(leaver: Leaver) {
  const contents = useLoad(`contents of ${leaver.kind} ${leaver.id}`, (signal) =>
    read<Contents>(requestsOf(leaver).contents, { signal }),
  );
  return loaded(contents, (value) => contentsFacts(value, leaver.kind === 'application'), { lines: 8 });
}

/** Asks whether a developer or an application is removed with everything, after it has shown what that is. */
export function removeWhole(leaver: Leaver): void {
  const { kind, id } = leaver;
  ask({
    title: `Remove ${id} with everything?`,
    text: p(
      { class: 'soft' },
      'All access ends at once: access tokens, logins of devices, webhooks. Then everything below is removed. Nobody is notified. This cannot be stopped or undone.',
      kind === 'application' ? ' Devices and software belong to the developer and stay.' : null,
    ),
    fields: use(Counted, leaver),
    typed: id,
    does: 'Remove everything',
    isBad: true,
    async act(_, go) {
      const response = await send(requestsOf(leaver).remove, { json: { confirmation: id } });
      const { removalId } = (await response.json()) as Removal;
      go(addressOf(['removals', removalId]));
      return `The removal of ${id} has begun.`;
    },
  });
}
