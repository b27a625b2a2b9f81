/**
 * A catalogue, in which names of packages are unique: `software` has the packages of developers and of the system,
 * `firmware` has firmware. The database's column is `line`.
 */
export type Catalogue = 'software' | 'firmware';
