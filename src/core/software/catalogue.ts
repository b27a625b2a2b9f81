/**
 * Names of packages are unique within a catalogue: the packages of developers and of the system, or firmware. The database
 * calls it `line`.
 */
export type Catalogue = 'software' | 'firmware';
