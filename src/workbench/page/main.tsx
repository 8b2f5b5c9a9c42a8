/** Starts the page of the workbench: loads the pack, and shows one view at a time. */
import { render } from 'preact';
import './style.css';
import { App } from './app.tsx';

const root = document.getElementById('workbench');
if (root) render(<App />, root);
