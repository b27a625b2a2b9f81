/** Names of packages are unique within a line: the packages of developers and of the system, or firmware. */
export type Line = 'software' | 'firmware';
