// What users' browsers load: each a single file without a dependency, built one at a time (`--mode wall`). The server puts
// the wall's into its page.
import { defineConfig } from 'vite'

export default defineConfig(({ mode: name }) => ({
  root: `${import.meta.dirname}/${name}`,
  publicDir: false,
  define: { 'process.env.NODE_ENV': '"production"' },
  build: {
    outDir: `${import.meta.dirname}/dist/client`,
    emptyOutDir: false,
    minify: true,
    target: ['chrome111', 'safari16.2', 'firefox113'], // those that know color-mix()
    cssCodeSplit: false,
    modulePreload: false,
    rolldownOptions: {
      input: `${import.meta.dirname}/${name}/main.ts`,
      output: { format: 'iife', entryFileNames: `${name}.js`, assetFileNames: `${name}[extname]` },
    },
  },
}))
