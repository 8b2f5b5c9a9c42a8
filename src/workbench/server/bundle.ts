/**
 * Bundles the script and the style of the page. In: the sources beside this folder. Out: two texts, made by esbuild
 * when the workbench starts and kept in memory: `npm ci` builds nothing, and no other command loads esbuild.
 */
import { fileURLToPath } from 'node:url';
import { build, stop } from 'esbuild';

export interface Bundle {
  readonly script: string;
  readonly style: string;
}

const MAIN = fileURLToPath(new URL('../page/main.tsx', import.meta.url));

/** Bundles the page. Rejects if a source of the page is invalid. */
export async function bundlePage(): Promise<Bundle> {
  try {
    const { outputFiles } = await build({
      entryPoints: [MAIN],
      outfile: 'main.js',
      bundle: true,
      write: false,
      minify: true,
      format: 'esm',
      target: 'es2022',
      jsx: 'automatic',
      jsxImportSource: 'preact',
      legalComments: 'none',
      logLevel: 'silent',
    });
    const textOf = (ending: string): string => outputFiles.find(({ path }) => path.endsWith(ending))?.text ?? '';
    return { script: textOf('.js'), style: textOf('.css') };
  } finally {
    // Otherwise the esbuild process would keep running.
    await stop();
  }
}
