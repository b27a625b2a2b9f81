/** Nobody looks at the display of a world. */
export const watch = () => (): void => undefined;
