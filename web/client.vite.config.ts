// What users' browsers load: each a single file without a dependency. The server puts the wall's into its page.
import { defineConfig } from 'vite'

export default defineConfig({
  root: `${import.meta.dirname}/wall`,
  publicDir: false,
  build: {
    outDir: `${import.meta.dirname}/dist/client`,
    emptyOutDir: true,
    target: ['chrome111', 'safari16.2', 'firefox113'], // those that know color-mix()
    cssCodeSplit: false,
    modulePreload: false,
    rolldownOptions: {
      input: `${import.meta.dirname}/wall/main.ts`,
      output: { format: 'iife', entryFileNames: 'wall.js', assetFileNames: 'wall[extname]' },
    },
  },
})
