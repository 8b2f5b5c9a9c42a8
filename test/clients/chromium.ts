/**
 * Drives headless Chromium, if installed. In: commands of the DevTools protocol. Out: pages as people and their scripts
 * see them. https://chromedevtools.github.io/devtools-protocol/
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

function find(): string | undefined {
  return NAMES.find(name => {
    try {
      return execFileSync('which', [name], { stdio: 'pipe' }).length > 0;
    } catch {
      return false;
    }
  });
}

/** Undefined if no Chromium is installed. */
export const CHROMIUM = find();
if (CHROMIUM === undefined) console.log(`SKIPPED: no browser is installed (${NAMES.join(', ')}).`);

export interface Told {
  readonly role: string;
  readonly name: string;
  /** True for a live region: a screen reader announces its changes. */
  readonly isLive: boolean;
}

export interface Tab {
  open(url: string): Promise<void>;
  /** Waits until an expression in the page is true, and returns its value. */
  when(expression: string): Promise<unknown>;
  /** Sets the size of the screen, in CSS pixels. */
  resize(width: number, height: number): Promise<void>;
  /** Runs a statement in the page. Rejects if it throws, for example because a button does not exist. */
  run(statement: string): Promise<void>;
  /** Presses a key as a person does: `Tab`, `Enter`, `Escape`, `ArrowDown`, `F8`, a letter with `ctrl`. */
  press(key: string, ctrl?: boolean): Promise<void>;
  /** Types or pastes a text at the focus. */
  write(text: string): Promise<void>;
  /** Clicks with the mouse, in CSS pixels. */
  click(x: number, y: number): Promise<void>;
  /** Roles and names in the accessibility tree, without ignored nodes. */
  told(): Promise<readonly Told[]>;
  /** What the browser blocked since the tab was opened, for example by a Content-Security-Policy. */
  refusals(): readonly string[];
  close(): Promise<void>;
}

/** Milliseconds between two polls, and before a page counts as hung. */
const LOOK = 50;
const TIME_LIMIT = 60_000;

/** Slows pages down by this factor: `PAGE_SLOWNESS=20` reveals tests that proceed before a page is ready. */
const SLOWNESS = Number(process.env['PAGE_SLOWNESS'] ?? 1);

/** Virtual key codes. */
const KEYS: ReadonlyMap<string, number> = new Map([
  ['Backspace', 8],
  ['Tab', 9],
  ['Enter', 13],
  ['Escape', 27],
  ['ArrowUp', 38],
  ['ArrowRight', 39],
  ['ArrowDown', 40],
  ['Delete', 46],
  ['End', 35],
  ['F8', 119],
]);

/** A node of the accessibility tree. */
interface TreeNode {
  readonly ignored: boolean;
  readonly role?: { readonly value: string };
  readonly name?: { readonly value: string };
  readonly properties?: readonly { readonly name: string; readonly value: { readonly value?: unknown } }[];
}

interface Reply {
  readonly id?: number;
  /** Name of an event; events have no id. */
  readonly method?: string;
  readonly params?: { readonly entry?: { readonly source: string; readonly text: string } };
  readonly result?: {
    readonly result?: { readonly value?: unknown };
    readonly exceptionDetails?: { readonly exception?: { readonly description?: string } };
    readonly sessionId?: string;
    readonly targetId?: string;
    readonly nodes?: readonly TreeNode[];
  };
  readonly error?: { readonly message: string };
}

/** Starts a separate browser with one tab. */
export async function openTab(): Promise<Tab> {
  const profile = mkdtempSync(join(tmpdir(), 'lintel-chromium-'));
  const flags = [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--remote-debugging-port=0',
    // A common screen size. On a small one the editor wraps lines, at places that depend on what was drawn before.
    '--window-size=1440,900',
    `--user-data-dir=${profile}`,
  ];
  const child = spawn(CHROMIUM ?? '', [...flags, 'about:blank'], { stdio: ['ignore', 'ignore', 'pipe'] });
  const exited = once(child, 'exit');
  const socket = new WebSocket(await addressOf(child.stderr));
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve, { once: true });
    socket.addEventListener('error', reject, { once: true });
  });
  const waiting = new Map<number, (reply: Reply) => void>();
  const refusals: string[] = [];
  socket.addEventListener('message', ({ data }) => {
    const reply = JSON.parse(String(data)) as Reply;
    if (reply.id !== undefined) waiting.get(reply.id)?.(reply);
    const entry = reply.method === 'Log.entryAdded' ? reply.params?.entry : undefined;
    if (entry?.source === 'security') refusals.push(entry.text);
  });
  let last = 0;
  const send = (method: string, params: object, sessionId?: string): Promise<NonNullable<Reply['result']>> =>
    new Promise((resolve, reject) => {
      const id = ++last;
      waiting.set(id, ({ result, error }) => {
        waiting.delete(id);
        if (error === undefined) resolve(result ?? {});
        else reject(new Error(`${method}: ${error.message}`));
      });
      socket.send(JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) }));
    });
  const { targetId } = await send('Target.createTarget', { url: 'about:blank' });
  const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true });
  await send('Log.enable', {}, sessionId);
  if (SLOWNESS > 1) await send('Emulation.setCPUThrottlingRate', { rate: SLOWNESS }, sessionId);
  const evaluate = async (expression: string): Promise<Reply['result']> => {
    try {
      return await send('Runtime.evaluate', { expression, returnByValue: true }, sessionId);
    } catch {
      // The page is being left.
      return undefined;
    }
  };
  const looked = async (expression: string): Promise<unknown> => (await evaluate(expression))?.result?.value;
  return {
    async open(url) {
      await send('Page.navigate', { url }, sessionId);
    },
    async when(expression) {
      const end = Date.now() + TIME_LIMIT;
      for (;;) {
        const value = await looked(expression);
        if (value) return value;
        if (Date.now() > end) throw new Error(`never true: ${expression}; ${await looked('location.pathname')}`);
        await new Promise(resolve => setTimeout(resolve, LOOK));
      }
    },
    async resize(width, height) {
      const size = { width, height, deviceScaleFactor: 1, mobile: true };
      await send('Emulation.setDeviceMetricsOverride', size, sessionId);
    },
    async run(statement) {
      const thrown = (await evaluate(statement))?.exceptionDetails;
      if (thrown) throw new Error(`${thrown.exception?.description}; of: ${statement}`);
    },
    async press(key, ctrl = false) {
      const code = KEYS.get(key) ?? key.toUpperCase().charCodeAt(0);
      const text = key === 'Enter' ? '\r' : '';
      const event = { key, code: key.length === 1 ? `Key${key.toUpperCase()}` : key, windowsVirtualKeyCode: code };
      const modifiers = ctrl ? 2 : 0;
      const type = text === '' ? 'rawKeyDown' : 'keyDown';
      await send('Input.dispatchKeyEvent', { ...event, type, modifiers, ...(text && { text }) }, sessionId);
      await send('Input.dispatchKeyEvent', { ...event, type: 'keyUp', modifiers }, sessionId);
    },
    async write(text) {
      await send('Input.insertText', { text }, sessionId);
    },
    async click(x, y) {
      const at = { x, y, button: 'left', clickCount: 1 };
      await send('Input.dispatchMouseEvent', { ...at, type: 'mouseMoved', button: 'none' }, sessionId);
      await send('Input.dispatchMouseEvent', { ...at, type: 'mousePressed' }, sessionId);
      await send('Input.dispatchMouseEvent', { ...at, type: 'mouseReleased' }, sessionId);
    },
    async told() {
      const { nodes = [] } = await send('Accessibility.getFullAXTree', {}, sessionId);
      return nodes
        .filter(({ ignored }) => !ignored)
        .map(({ role, name, properties = [] }) => ({
          role: role?.value ?? '',
          name: name?.value ?? '',
          isLive: properties.some(one => one.name === 'live' && one.value.value !== 'off'),
        }));
    },
    refusals: () => refusals,
    async close() {
      socket.close();
      child.kill('SIGKILL');
      await exited;
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function addressOf(stderr: AsyncIterable<Buffer>): Promise<string> {
  let text = '';
  for await (const chunk of stderr) {
    text += String(chunk);
    const [, found] = /DevTools listening on (ws:\S+)/.exec(text) ?? [];
    if (found !== undefined) return found;
  }
  throw new Error('the browser did not start');
}
