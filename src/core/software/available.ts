import type { Database } from '../../platform/database/sql.ts';
import { type AvailableVersion, listDistributable, listFirmware, listNewestOfSystem } from './available-repository.ts';

/** Specification, "Limits". */
const NEWEST_PER_SYSTEM_PACKAGE = 3;

export interface AvailableSoftware {
  userPackages: AvailableVersion[];
  systemPackages: AvailableVersion[];
  /** Of userPackages. */
  total: number;
}

/** What can be installed (ops 24 and 29). */
export function createAvailable({ database }: { database: Database }) {
  return {
    /** Op 24: paging is of userPackages only. Versions without distribution are in it; they are not distributable yet. */
    async list(
      caller: { developerId: string; applicationId: string },
      query: { package?: string; mode?: 'latest'; offset: number; limit: number },
    ): Promise<AvailableSoftware> {
      const named = query.package === undefined ? {} : { package: query.package };
      const latest = query.mode === 'latest';
      const { rows, total } = await listDistributable(database.read, caller, { ...named, latest }, query);
      const perPackage = latest ? 1 : NEWEST_PER_SYSTEM_PACKAGE;
      return { userPackages: rows, systemPackages: await listNewestOfSystem(database.read, named, perPackage), total };
    },

    /** Op 29. */
    firmware: () => listFirmware(database.read),
  };
}
