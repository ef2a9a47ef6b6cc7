import { realpathSync } from 'node:fs'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { licences } from '../scripts/licences.ts'

export default defineConfig({
  root: `${import.meta.dirname}/dashboard`,
  publicDir: false,
  plugins: [react(), licences('licences.txt')],
  // The code that pages show, which is in examples/, and packages, which may be linked from elsewhere.
  server: { fs: { allow: [`${import.meta.dirname}/..`, realpathSync(`${import.meta.dirname}/../node_modules`)] } },
  html: { cspNonce: '__NONCE__' },
  build: {
    outDir: `${import.meta.dirname}/dist`,
    emptyOutDir: true,
    assetsInlineLimit: 0,
    target: 'es2023',
    chunkSizeWarningLimit: 700,
  },
})
