/**
 * The page of the workbench in a browser of its own, over a small clinic. Ask for it only where a Chromium is
 * installed.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { SmallClinic } from '../cli/small-clinic.ts';
import { openTab, type Tab } from '../clients/chromium.ts';

export interface OpenedPage {
  readonly tab: Tab;
  /** Clicks the first that matches and has the text. */
  press(selector: string, text: string): Promise<void>;
  /** Types into an input as a person does, and submits nothing. */
  fill(selector: string, text: string): Promise<void>;
  close(): Promise<void>;
}

export async function openPage(clinic: SmallClinic): Promise<OpenedPage> {
  const child = spawn(process.execPath, ['bin/lintel.mjs', 'workbench'], {
    env: { PATH: process.env['PATH'], ...clinic.environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const link = await new Promise<string>((resolve, reject) => {
    let out = '';
    child.on('exit', code => reject(new Error(`the workbench ended with ${code}`)));
    child.stdout.on('data', chunk => {
      out += String(chunk);
      const [, found] = /(http:\S+)\s/.exec(out) ?? [];
      if (found !== undefined) resolve(found);
    });
  });
  const tab = await openTab();
  await tab.open(link);
  await tab.when(`document.querySelector('header nav') !== null`);
  return {
    tab,
    press: (selector, text) =>
      tab.run(`[...document.querySelectorAll('${selector}')].find(one => one.textContent.includes('${text}')).click()`),
    fill: (selector, text) =>
      tab.run(`{ const input = document.querySelector('${selector}'); input.focus(); input.value = '${text}';
        input.dispatchEvent(new Event('input', { bubbles: true })); }`),
    async close() {
      await tab.close();
      child.kill('SIGTERM');
      await exited;
    },
  };
}
