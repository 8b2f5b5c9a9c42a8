/** Styles are bundled next to the script. */
declare module '*.css';
