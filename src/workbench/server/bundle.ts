/**
 * The script and the style of the page. In: the sources beside this folder. Out: two texts, made by esbuild when the
 * workbench starts and kept in memory: nothing is built at `npm ci`, and no other command loads esbuild.
 */
import { fileURLToPath } from 'node:url';
import { build, stop } from 'esbuild';

export interface Bundle {
  readonly script: string;
  readonly style: string;
}

const MAIN = fileURLToPath(new URL('../page/main.tsx', import.meta.url));

/** Rejects where a source of the page is broken. */
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
    // Its process would go on.
    await stop();
  }
}
