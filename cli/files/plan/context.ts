import type { Administration, Application } from '../../account/access.ts';
import type { Terminal } from '../../show/terminal.ts';
import type { Configuration } from '../read/configuration.ts';

/** The surroundings of a comparison with the objects of an application. */
export interface ApplicationContext {
  application: Application;
  configuration: Configuration;
  terminal: Terminal;
}

/** The surroundings of a comparison with the objects of administration. */
export interface AdministrationContext {
  administration: Administration;
  configuration: Configuration;
}
