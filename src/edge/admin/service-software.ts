import type { ServiceSoftwareVersion } from '@lapel/schemas/contracts/types';
import type { AvailableVersion } from '../../core/software/available-repository.ts';
import { NO_STORE } from '../http/no-store.ts';
import { nextPage } from '../http/paging.ts';
import type { Answer } from '../http/route.ts';
import type { AdminServices, At, List } from './services.ts';

type Services = Pick<AdminServices, 'software' | 'formatTime'>;

type Kind = 'systemPackages' | 'firmware';
type AtVersion = At<'package' | 'version'>;

const body = (row: AvailableVersion, formatTime: AdminServices['formatTime']): ServiceSoftwareVersion => ({
  package: row.package,
  displayName: row.displayName,
  version: row.version,
  description: row.description,
  registerDate: formatTime(row.createdAt),
  updateDate: formatTime(row.updatedAt),
});

/** The handlers of system packages or of firmware; they differ only in the name of the list. */
function handlersOf(kind: Kind, listName: 'systemPackages' | 'firmwareVersions') {
  return {
    async list({ software, formatTime }: Services, input: List): Promise<Answer> {
      const { rows, total } = await software[kind].list(input.query);
      const headers = nextPage(input, input.query, total);
      return { status: 200, headers, body: { [listName]: rows.map((row) => body(row, formatTime)), total } };
    },

    async put(
      { software, formatTime }: Services,
      { params, body: patch }: At<'package' | 'version', 'admin/service-software-put'>,
    ): Promise<Answer> {
      return { status: 200, body: body(await software[kind].put(params, patch), formatTime) };
    },

    async remove({ software }: Services, { params }: AtVersion): Promise<Answer> {
      await software[kind].remove(params);
      return { status: 204 };
    },

    async uploadUrl({ software }: Services, { params }: AtVersion): Promise<Answer> {
      return { status: 200, headers: NO_STORE, body: await software[kind].uploadUrl(params) };
    },
  };
}

export const systemPackages = handlersOf('systemPackages', 'systemPackages');
export const firmware = handlersOf('firmware', 'firmwareVersions');
