/**
 * Writes the HTML of the page, and its Content-Security-Policy: it may load its own script and style, and connect only
 * to this server.
 */
import { randomBytes } from 'node:crypto';

export interface PageText {
  readonly text: string;
  /** Content-Security-Policy. */
  readonly policy: string;
}

/** Writes the page. `base`: its path without the final slash. The nonce allows the styles that the editor creates. */
export function pageText(base: string): PageText {
  const nonce = randomBytes(18).toString('base64');
  return {
    policy: [
      "default-src 'none'",
      "script-src 'self'",
      `style-src 'self' 'nonce-${nonce}'`,
      "connect-src 'self'",
      'img-src data:',
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
    text: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Lintel workbench</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${base}/main.css">
<script type="module" src="${base}/main.js" nonce="${nonce}"></script>
</head>
<body><div id="workbench"></div><noscript>The workbench needs JavaScript.</noscript></body>
</html>
`,
  };
}
