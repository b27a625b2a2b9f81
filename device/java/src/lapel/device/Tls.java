package lapel.device;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.Collection;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedKeyManager;

/** TLS with the CA of a service, and perhaps a certificate of the device. All methods may be called by any thread. */
public final class Tls {
    private static final String ALIAS = "device";

    private Tls() {}

    /**
     * Trusts these CAs and no others.
     *
     * @param caPem one or more certificates in PEM
     * @throws GeneralSecurityException when they cannot be read
     */
    public static SSLSocketFactory trusting(String caPem) throws GeneralSecurityException {
        return factory(caPem, null);
    }

    /**
     * The same, and shows a certificate of the device.
     *
     * @param certificatePem the certificate, and those between it and its CA, in PEM
     * @param key its key, which may be one that never leaves its key store
     */
    public static SSLSocketFactory trusting(String caPem, String certificatePem, PrivateKey key)
            throws GeneralSecurityException {
        X509Certificate[] chain = certificates(certificatePem).toArray(new X509Certificate[0]);
        return factory(caPem, new KeyManager[] {new OneKey(chain, key)});
    }

    static Collection<? extends Certificate> certificates(String pem) throws GeneralSecurityException {
        CertificateFactory factory = CertificateFactory.getInstance("X.509");
        return factory.generateCertificates(new ByteArrayInputStream(pem.getBytes(StandardCharsets.US_ASCII)));
    }

    private static SSLSocketFactory factory(String caPem, KeyManager[] keys) throws GeneralSecurityException {
        KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
        try {
            trusted.load(null, null);
        } catch (IOException impossible) { // nothing is read
            throw new IllegalStateException(impossible);
        }
        for (Certificate one : certificates(caPem)) trusted.setCertificateEntry("ca-" + trusted.size(), one);
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys, trust.getTrustManagers(), null);
        return context.getSocketFactory();
    }

    /** A key store cannot take a key that never leaves another one, so the key is handed over as it is. */
    private static final class OneKey extends X509ExtendedKeyManager {
        private final X509Certificate[] chain;
        private final PrivateKey key;

        OneKey(X509Certificate[] chain, PrivateKey key) {
            this.chain = chain;
            this.key = key;
        }

        @Override
        public String chooseClientAlias(String[] types, Principal[] issuers, Socket socket) {
            return ALIAS;
        }

        @Override
        public String chooseEngineClientAlias(String[] types, Principal[] issuers, SSLEngine engine) {
            return ALIAS;
        }

        @Override
        public String[] getClientAliases(String type, Principal[] issuers) {
            return new String[] {ALIAS};
        }

        @Override
        public X509Certificate[] getCertificateChain(String alias) {
            return chain.clone();
        }

        @Override
        public PrivateKey getPrivateKey(String alias) {
            return key;
        }

        @Override
        public String chooseServerAlias(String type, Principal[] issuers, Socket socket) {
            return null;
        }

        @Override
        public String[] getServerAliases(String type, Principal[] issuers) {
            return null;
        }
    }
}
