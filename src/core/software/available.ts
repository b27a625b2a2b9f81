import type { Database } from '../../platform/database/sql.ts';
import { type AvailableVersion, listDistributable, listFirmware, listNewestOfSystem } from './available-repository.ts';

/** The most versions of a system package in the list (specification, "Limits"). */
const NEWEST_PER_SYSTEM_PACKAGE = 3;

export interface AvailableSoftware {
  userPackages: AvailableVersion[];
  systemPackages: AvailableVersion[];
  /** The number of versions that userPackages has over all pages. */
  total: number;
}

/** The software that can be installed (ops 24 and 29). */
export function createAvailable({ database }: { database: Database }) {
  return {
    /**
     * Lists the packages that the application may install (op 24). Only userPackages are paged. Versions that are not
     * distributed are included, though they cannot be installed yet.
     */
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

    /** Lists all firmware versions (op 29). */
    firmware: () => listFirmware(database.read),
  };
}
