/** Whether the demo's site is served at /demo: the server marks its pages (http/dashboard.ts). */
export const hasDemoSite = document.querySelector('meta[name=offerdeck-demo]') !== null
