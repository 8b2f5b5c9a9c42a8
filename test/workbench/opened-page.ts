/**
 * Opens the page of the workbench in a separate browser, over a small clinic. Call it only if a Chromium is installed.
 */
import { rmSync } from 'node:fs';
import { keptClinic, type SmallClinic } from '../cli/small-clinic.ts';
import { openTab, type Tab } from '../clients/chromium.ts';
import { serveBench } from './served-bench.ts';

export interface OpenedPage {
  readonly clinic: SmallClinic;
  readonly tab: Tab;
  /** Clicks the first element that matches and has the text, as soon as it exists. */
  press(selector: string, text: string): Promise<void>;
  /** Types into an input as a person does, without submitting. */
  fill(selector: string, text: string): Promise<void>;
  close(): Promise<void>;
}

/** `files` replace or add files of the clinic's pack, which is removed when the page is closed. */
export async function openPage(files: Readonly<Record<string, string>> = {}): Promise<OpenedPage> {
  const clinic = keptClinic(files);
  const { link, stop } = await serveBench(clinic.environment);
  const tab = await openTab();
  await tab.open(link);
  await tab.when(`document.querySelector('header nav') !== null`);
  return {
    ...{ clinic, tab },
    async press(selector, text) {
      const found = `[...document.querySelectorAll('${selector}')].find(one => one.textContent.includes('${text}'))`;
      await tab.when(`${found} !== undefined`);
      await tab.run(`${found}.click()`);
    },
    fill: (selector, text) =>
      tab.run(`{ const input = document.querySelector('${selector}'); input.focus(); input.value = '${text}';
        input.dispatchEvent(new Event('input', { bubbles: true })); }`),
    async close() {
      await tab.close();
      await stop();
      rmSync(clinic.folder, { recursive: true, force: true });
    },
  };
}
